import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./look/colours.css";
import "./look/words.css";
import "./look/shell.css";
import "./look/parts.css";
import "./look/tables.css";
import "./look/requests.css";
import "./look/access.css";
import "./look/supply.css";
import "./look/serving.css";
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
