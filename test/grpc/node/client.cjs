// A gRPC client of grpc-js that the tests drive: it reads a command per line and answers
// each with a line of JSON. GRPC_XDS_BOOTSTRAP names its bootstrap. CommonJS, because
// NODE_PATH, which says where the packages lie, means nothing to ES modules.
'use strict';
const grpc = require('@grpc/grpc-js');
const readline = require('node:readline');

require('@grpc/grpc-js-xds').register();

const asIs = (bytes) => bytes;
const Backend = grpc.makeGenericClientConstructor({
  who: {
    path: '/fairlead.test.Backend/Who', requestStream: false, responseStream: false,
    requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs,
  },
}, 'fairlead.test.Backend');
const channels = new Map();

// "open ID TARGET", "call ID MILLISECONDS" or "close ID".
function run([verb, id, word], answer) {
  if (verb === 'open') {
    channels.set(id, new Backend(word, grpc.credentials.createInsecure()));
  } else if (verb === 'close') {
    channels.get(id).close();
  } else {
    channels.get(id).who(Buffer.alloc(0), { deadline: Date.now() + Number(word) }, (error, reply) => answer(error
      ? { code: grpc.status[error.code], details: error.details }
      : { code: 'OK', reply: reply.toString() }));
    return;
  }
  answer({ code: 'OK' });
}

const lines = readline.createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const answer = (a) => process.stdout.write(`${JSON.stringify(a)}\n`);
  try {
    run(line.split(' '), answer);
  } catch (error) {
    answer({ code: 'UNKNOWN', details: String(error) });
  }
});
lines.on('close', () => process.exit(0)); // open channels would keep it alive
