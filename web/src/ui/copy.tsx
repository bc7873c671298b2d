// Text to take along.
import { ActionIcon, Box, CopyButton } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  return (
    <CopyButton value={text} timeout={2000}>
      {({ copied, copy }) => (
        <ActionIcon variant="subtle" color={copied ? "teal" : "gray"} onClick={copy} title={copied ? "Copied" : label} aria-label={copied ? "Copied" : label}>
          {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
      )}
    </CopyButton>
  );
}

/** A block of text with a button that copies it. */
export function CopyBlock({ text, label }: { text: string; label: string }) {
  return (
    <Box className="copy-block">
      <pre tabIndex={0} aria-label={label}>{text}</pre>
      <Copy text={text} label={`Copy ${label}`} />
    </Box>
  );
}
