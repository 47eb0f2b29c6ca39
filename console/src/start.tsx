import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createCall, guarded } from "./api/call.ts";
import { CallProvider } from "./api/call-context.tsx";
import { Confirmation } from "./api/confirmation.ts";
import { ConfirmationProvider } from "./api/confirmation-context.tsx";
import { createQueries } from "./api/queries.ts";
import { preloadPages } from "./routes/preload-pages.ts";
import { consoleRouter } from "./routes/tree.tsx";
import { ArrivalProvider, takeArrival } from "./session/arrival.tsx";
import { theme } from "./theme.ts";

/** Draws the console into the page. `nonce` lets its style tags work. */
export function startConsole(root: HTMLElement, nonce: string): void {
  const arrival = takeArrival();
  const queries = createQueries();
  const confirmation = new Confirmation();
  // Callers only report that the session ended: the frame of every page checks again and shows the sign-in page.
  const dependencies = {
    confirmation,
    onSignedOut: () => void queries.invalidateQueries({ queryKey: ["session.show"] }),
  };
  const call = createCall(dependencies);
  const ask = guarded(dependencies);
  const router = consoleRouter();
  preloadPages(router);

  // Our style sheets contain the theme's variables, so Mantine does not need to add a style tag for them.
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} getStyleNonce={() => nonce}>
        <QueryClientProvider client={queries}>
          <ConfirmationProvider confirmation={confirmation}>
            <CallProvider call={call} ask={ask}>
              <ArrivalProvider arrival={arrival}>
                <RouterProvider router={router} />
              </ArrivalProvider>
            </CallProvider>
          </ConfirmationProvider>
        </QueryClientProvider>
        <Notifications position="bottom-right" limit={4} containerWidth={380} notificationMaxHeight={640} />
      </MantineProvider>
    </StrictMode>,
  );
}
