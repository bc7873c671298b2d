import { Anchor, Badge, createTheme, type MantineColorsTuple } from "@mantine/core";

const sea: MantineColorsTuple = ["#e9f7f5", "#d6ebe8", "#add7d1", "#80c2b9", "#5ab0a5", "#42a598", "#339f91", "#238a7d", "#17776b", "#006458"];

export const theme = createTheme({
  primaryColor: "sea",
  primaryShade: { light: 8, dark: 8 }, // white on it is readable
  colors: { sea },
  defaultRadius: "md",
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: "650" },
  components: {
    Anchor: Anchor.extend({ defaultProps: { underline: "always" } }), // a link is told by more than its colour
    Badge: Badge.extend({ defaultProps: { tt: "none" } }), // the words of the API and of the sentences beside it
  },
});
