// What narrows a list. On a phone it is folded, so that the list is seen first.
import { Box, Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFilter } from "@tabler/icons-react";
import { useId, type ReactNode } from "react";

interface Props {
  /** How many of them are set: told on the button, and then they are open from the beginning. */
  set: number;
  children: ReactNode;
}

export function FilterFold({ set, children }: Props) {
  const id = useId();
  const [open, { toggle }] = useDisclosure(set > 0);
  return (
    <>
      <Button variant="default" hiddenFrom="sm" leftSection={<IconFilter size={16} />} aria-expanded={open} aria-controls={id} onClick={toggle} style={{ alignSelf: "flex-start" }}>
        {set === 0 ? "Filter" : `Filter (${set})`}
      </Button>
      <Box id={id} className="filters" data-open={open}>
        {children}
      </Box>
    </>
  );
}
