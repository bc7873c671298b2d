import { Box, ColorSwatch, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Fleet } from "../api/client";
import { receiptQuery } from "../api/queries";
import { health, healthSentence, kindColor, kinds, kindWords, type Kind } from "./health";

/** A fleet's health. Whom the newest receipt waits for it asks only while it waits for somebody. */
export function useHealth(tenant: string, fleet: Fleet): Record<Kind, number> {
  const receipt = useQuery({ ...receiptQuery(tenant, fleet.name, "latest"), enabled: fleet.counts?.receipt === "pending" });
  const nodes = fleet.counts?.nodes ?? { live: 0, refusing: 0, offline: 0 };
  return health(nodes, fleet.counts?.receipt === "pending" ? receipt.data?.counts : undefined);
}

interface Props {
  of: Record<Kind, number>;
  height?: number;
  /** Says only what there is of. */
  short?: boolean;
}

/** The nodes by state as one bar, with words below it. */
export function HealthBar({ of, height = 10, short = false }: Props) {
  const there = kinds.filter((k) => of[k] > 0);
  return (
    <Box>
      <Box role="img" aria-label={healthSentence(of)} h={height} mb={6} display="flex" bg="var(--fl-line)" style={{ borderRadius: height, overflow: "hidden", gap: 2 }}>
        {there.map((k) => (
          <Box key={k} bg={`${kindColor[k]}.6`} miw={4} style={{ flexGrow: of[k], flexBasis: 0 }} />
        ))}
      </Box>
      {short && there.length === 0 && <Text size="sm">{healthSentence(of)}</Text>}
      <Group gap="sm" component="ul" p={0} m={0} style={{ rowGap: 2 }}>
        {(short ? there : kinds).map((k) => (
          <Group key={k} component="li" gap={6} wrap="nowrap" title={kindWords[k]} {...(of[k] === 0 ? { c: "dimmed" } : {})}>
            <ColorSwatch component="span" size={9} color={`var(--mantine-color-${kindColor[k]}-6)`} withShadow={false} opacity={of[k] === 0 ? 0.4 : 1} />
            <Text span size="sm" fw={of[k] === 0 ? 400 : 600}>
              {of[k]}
            </Text>
            <Text span size="sm">
              {k}
            </Text>
          </Group>
        ))}
      </Group>
    </Box>
  );
}
