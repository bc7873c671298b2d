// A resource by its type, name and variant, as a link to its page.
import type { ResourceType } from "../api/client";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";

export interface Named {
  type: ResourceType;
  name: string;
  variant?: string;
}

export const nameOf = ({ type, name, variant }: Named) => `${type}/${name}${variant ? ` (${variant})` : ""}`;

export function ResourceLink({ of }: { of: Named }) {
  const { fleet } = usePlace();
  return (
    <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: of.type, name: of.name }} search={{ variant: of.variant }} className="mono">
      {nameOf(of)}
    </TextLink>
  );
}

/** What a finding says; the resource that it names first is the link. */
export function FindingWords({ finding: f }: { finding: Named & { detail: string } }) {
  const plain = `${f.type}/${f.name}`;
  return (
    <>
      <ResourceLink of={f} />
      {f.detail.startsWith(`${plain} `) ? f.detail.slice(plain.length) : `: ${f.detail}`}
    </>
  );
}

/** Nodes by their ids, each a link to its page, and how many more there are. */
export function NodeLinks({ ids, of }: { ids: readonly string[]; of: number }) {
  const { fleet } = usePlace();
  return (
    <>
      {ids.map((id, i) => (
        <span key={id}>
          {i > 0 && ", "}
          <TextLink to="/fleets/$fleet/nodes/$node" params={{ fleet, node: id }} className="mono">
            {id}
          </TextLink>
        </span>
      ))}
      {of > ids.length && ` and ${of - ids.length} more`}
    </>
  );
}
