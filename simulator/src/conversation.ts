import { emptyScript, type Script } from "./script.ts";
import { splitMarker } from "./script-source.ts";
import { countWords } from "./words.ts";

/** A summary of messages, independent of dialect: the words of all text, the last user text, and the kind of the last message. */
export class Conversation {
  words = 0;
  /** The last user text, without its script mark and without the notes of an agent. */
  last = "";
  script: Script = emptyScript;
  toolResultLast = false;
  /** Tool results since the last user text. */
  toolResults = 0;

  /** Adds a message; its texts are joined by spaces. */
  add(role: "user" | "assistant" | "system" | "tool", texts: readonly string[]): void {
    const promptParts = splitMarker(joined(texts));
    this.words += countWords(promptParts.text);
    this.toolResultLast = role === "tool";
    if (role === "tool") this.toolResults++;
    if (role !== "user") return;
    const typed = texts.filter((text) => !addedByAgent.test(text));
    this.last = typed.length === 0 ? promptParts.text : splitMarker(joined(typed)).text;
    this.toolResults = 0;
    this.script = promptParts.script;
  }
}

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== "").join(" ");

/** Claude Code and Codex send notes to the model as texts of the user. */
const addedByAgent = /^\s*<(?:system-reminder|environment_context)>/;
