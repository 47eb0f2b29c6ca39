import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./styles/colours.css";
import "./styles/words.css";
import "./styles/shell.css";
import "./styles/components.css";
import "./styles/tables.css";
import "./styles/requests.css";
import "./styles/access.css";
import "./styles/catalog.css";
import "./styles/serving.css";
import { forbidMadeCode } from "./browser/no-made-code.ts";
import { announceStyleNonce, styleNonce } from "./browser/style-nonce.ts";
import { guardMarkup } from "./browser/trusted-types.ts";

guardMarkup();
forbidMadeCode();
const nonce = styleNonce();
announceStyleNonce(nonce);
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no place for the console.");

// Only now: libraries look around when they are loaded, and must find the page as it stays.
const { startConsole } = await import("./start.tsx");
startConsole(root, nonce);
