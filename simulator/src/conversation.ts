import { emptyScript, type Script } from "./script.ts";
import { splitMark } from "./script-source.ts";
import { countWords } from "./words.ts";

/** What messages say, whatever the dialect: words of all their text, the last user text, and who spoke last. */
export class Conversation {
  words = 0;
  /** The last user text, without its script mark. */
  last = "";
  script: Script = emptyScript;
  toolResultLast = false;
  /** Results of tools since the last user text. */
  toolResults = 0;

  /** One message: its texts are joined by a space. */
  add(role: "user" | "assistant" | "system" | "tool", texts: readonly string[]): void {
    const marked = splitMark(texts.filter((text) => text !== "").join(" "));
    this.words += countWords(marked.text);
    this.toolResultLast = role === "tool";
    if (role === "tool") this.toolResults++;
    if (role !== "user") return;
    this.last = marked.text;
    this.toolResults = 0;
    this.script = marked.script;
  }
}
