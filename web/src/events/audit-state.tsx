// Whether the audit is as it was written.
import { Alert, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Ago } from "../ui/time";
import { auditCheckQuery } from "./queries";

/** What the last verification found. While it is not known nothing stands here: the list does not wait for it. */
export function AuditState({ tenant }: { tenant: string }) {
  const { data } = useQuery(auditCheckQuery(tenant));
  if (data === undefined) return null;
  if (data.fault !== undefined) {
    return (
      <Alert color="red" role="alert" title="The audit is not as it was written" mb="md">
        <Text size="sm" className="words">
          {data.fault.seq > 0 ? `At event ${String(data.fault.seq)}: ` : ""}
          {data.fault.detail}
        </Text>
      </Alert>
    );
  }
  return (
    <Text size="sm" c="dimmed" mb="sm">
      {data.checked_at === undefined ? (
        "The chain of these events was not verified yet: the servers do so once a day."
      ) : (
        <>
          Verified <Ago at={data.checked_at} />, up to event {data.checked_seq}: as it was written.
        </>
      )}
    </Text>
  );
}
