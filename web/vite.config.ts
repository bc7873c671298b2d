import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// What the server puts in the place of this word is another one for each answer.
const nonce = "FAIRLEAD_NONCE";

export default defineConfig({
  plugins: [react()],
  html: { cspNonce: nonce },
  build: {
    target: "es2023",
    assetsInlineLimit: 0, // data: addresses are not in the policy
    modulePreload: { polyfill: false },
    // What is small and stands in most views is one file: each file of its own costs a request's headers.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "common", test: /src\/(ui\/(chart-key|loaded|state)|history\/run|overview\/queries|receipt\/words|nodes\/words)\.tsx?$/ }] } } },
  },
  server: {
    // "npm run dev" beside a running API server. The Origin header stays, or nobody could sign in.
    proxy: { "/v1": { target: process.env.FAIRLEAD_URL ?? "http://127.0.0.1:8080", changeOrigin: false } },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test/setup.ts"],
    restoreMocks: true,
    isolate: false, // one window for many files: a new one for each takes twice as long as all tests. src/test/setup.ts leaves it as it was
    maxWorkers: 2, // the cores of the machine that checks it
  },
});
