// Shows the page at an address, as a browser would.
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import { queryClient } from "../api/follow";
import { router } from "../app/router";
import { Session } from "../app/session";
import { theme } from "../app/theme";

export function open(address: string) {
  queryClient.clear();
  router.update({ ...router.options, history: createMemoryHistory({ initialEntries: [address] }) });
  void router.load(); // a router that has shown a page before stays at it
  return render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={queryClient}>
        <Session>
          <RouterProvider router={router} />
        </Session>
      </QueryClientProvider>
    </MantineProvider>,
  );
}
