import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { queryClient } from "../api/follow";
import { nonce } from "./nonce";
import { router } from "./router";
import { Session } from "./session";
import { theme } from "./theme";

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queryClient}>
        <Session>
          <RouterProvider router={router} />
        </Session>
      </QueryClientProvider>
    </MantineProvider>
  );
}
