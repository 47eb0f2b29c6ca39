import "@mantine/core/styles.css";
import "./page.css";
import { createTheme, MantineProvider } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { takeFragment } from "./setup/fragment.ts";

const theme = createTheme({ primaryColor: "cyan", defaultRadius: "md", respectReducedMotion: true });
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no place for the console.");

// The gateway forbids inline styles, so the two style tags that Mantine would write are switched off: the variables
// come from its style sheet and ours, and no component here uses what the second one is for.
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <App setupToken={takeFragment("setup")} />
    </MantineProvider>
  </StrictMode>,
);
