import { emptyScript, type Script } from "./script.ts";
import { splitMarker } from "./script-source.ts";
import { countWords } from "./words.ts";

/** A summary of messages, independent of dialect: the words of all text, the last user text, and the kind of the last message. */
export class Conversation {
  words = 0;
  /** The last user text, without its script mark. */
  last = "";
  script: Script = emptyScript;
  toolResultLast = false;
  /** Tool results since the last user text. */
  toolResults = 0;

  /** Adds a message; its texts are joined by spaces. */
  add(role: "user" | "assistant" | "system" | "tool", texts: readonly string[]): void {
    const promptParts = splitMarker(texts.filter((text) => text !== "").join(" "));
    this.words += countWords(promptParts.text);
    this.toolResultLast = role === "tool";
    if (role === "tool") this.toolResults++;
    if (role !== "user") return;
    this.last = promptParts.text;
    this.toolResults = 0;
    this.script = promptParts.script;
  }
}
