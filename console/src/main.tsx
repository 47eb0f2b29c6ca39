import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./styles/colors.css";
import "./styles/type.css";
import "./styles/words.css";
import "./styles/shell.css";
import "./styles/components.css";
import "./styles/tables.css";
import "./styles/requests.css";
import "./styles/access.css";
import "./styles/catalog.css";
import "./styles/serving.css";
import "./styles/print.css";
import { forbidMadeCode } from "./browser/no-made-code.ts";
import { announceStyleNonce, styleNonce } from "./browser/style-nonce.ts";
import { guardMarkup } from "./browser/trusted-types.ts";
import { language } from "./language/chosen.ts";
import type { Language } from "./language/languages.ts";
import { useTranslation } from "./language/words.ts";

guardMarkup();
forbidMadeCode();
const nonce = styleNonce();
announceStyleNonce(nonce);
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no place for the console.");

/** English is part of the app; another language is loaded before the first render. */
const others: Readonly<Record<Exclude<Language, "en">, () => Promise<void>>> = {
  "zh-CN": async () => useTranslation((await import("./language/zh-CN/index.ts")).zhCN),
};
if (language !== "en") await others[language]();
document.documentElement.lang = language;

// Imported only now, because libraries inspect the page when they are loaded.
const { startConsole } = await import("./start.tsx");
startConsole(root, nonce);
