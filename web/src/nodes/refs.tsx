// Resources and revisions as links.
import { Text } from "@mantine/core";
import type { RefusalEnd, ResourceRef } from "../api/client";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { Ago } from "../ui/time";
import { refText } from "./words";

export function RefLink({ of, variant }: { of: ResourceRef; variant?: string | undefined }) {
  const { fleet } = usePlace();
  if (of.name === "") return <span className="mono">{of.type}</span>; // none could be held responsible
  return (
    <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: of.type, name: of.name }} search={variant === undefined ? {} : { variant }} className="mono ref" inherit>
      {refText(of)}
    </TextLink>
  );
}

/** Resources with commas between them. */
export function RefLinks({ of, most = 5 }: { of: readonly ResourceRef[]; most?: number }) {
  return (
    <>
      {of.slice(0, most).map((r, i) => (
        <span key={refText(r)}>
          {i > 0 && ", "}
          <RefLink of={r} />
        </span>
      ))}
      {of.length > most && (
        <Text span inherit c="dimmed">
          {` and ${of.length - most} more`}
        </Text>
      )}
    </>
  );
}

export function RevisionLink({ of, word = "revision" }: { of: number; word?: string }) {
  const { fleet } = usePlace();
  return (
    <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(of) }} className="ref" inherit>
      {`${word} ${of}`.trim()}
    </TextLink>
  );
}

/** What ended a refusal: another revision, what the node took, or that it was offered once more, which it may have refused again. */
export function EndedBy({ how, by, at }: { how: RefusalEnd | undefined; by: number | undefined; at: string | undefined }) {
  const told = how === "offered" ? "offered again, " : how === "taken" ? "it has what it is to have, " : by === undefined || by === 0 ? "" : <><RevisionLink of={by} />{", "}</>;
  return (
    <span>
      {told}
      <Ago at={at} />
    </span>
  );
}
