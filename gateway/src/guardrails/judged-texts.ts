import type { GuardrailPlace } from "@sluice/contract/words";
import type { TextSpan } from "#protocols/index.ts";
import { pathOf } from "./inspect.ts";

/** A text for a model or a service to judge. */
export interface JudgedText {
  readonly place: GuardrailPlace;
  /** The member of the body, or of the first event with a piece of the text; empty: unknown. */
  readonly path: string;
  readonly text: string;
  /** Why it cannot be changed: its vendor has signed it, or it is an encoded file. null: it can. */
  readonly fixed: "signed" | "file" | null;
}

export function judgedText(span: TextSpan, text: string): JudgedText {
  const fixed = span.signed ? "signed" : span.kind === "file" ? "file" : null;
  return { place: span.place, path: pathOf(span), text, fixed };
}

/** Characters before a window that are judged again with it. */
const overlapCharacters = 512;

interface StreamText extends JudgedText {
  text: string;
  /** It has grown since it was last judged. */
  isNew: boolean;
}

/** The texts of a stream that were not judged yet, one by one. */
export class JudgedTexts {
  /** Characters that were not judged yet. */
  characters = 0;
  readonly #texts = new Map<string, StreamText>();
  /** Whole texts, which later events may repeat. */
  readonly #seen = new Set<string>();

  /** Adds a text, or more of one. */
  add(key: string, span: TextSpan, text: string): void {
    const present = this.#texts.get(key);
    if (present === undefined) this.#texts.set(key, { ...judgedText(span, text), isNew: true });
    else {
      present.text += text;
      present.isNew = true;
    }
    this.characters += text.length;
  }

  /** Adds a text that does not continue, unless it repeats an earlier one. */
  addWhole(span: TextSpan, text: string): void {
    if (this.#seen.has(text)) return;
    for (const present of this.#texts.values()) if (present.text === text) return;
    this.#seen.add(text);
    this.add(`whole ${this.#seen.size}`, span, text);
  }

  /** The texts with something new, each after the end of what was judged before. */
  take(): readonly JudgedText[] {
    const judged: JudgedText[] = [];
    this.characters = 0;
    for (const [key, entry] of this.#texts) {
      if (!entry.isNew) {
        this.#texts.delete(key);
        continue;
      }
      const { place, path, text, fixed } = entry;
      judged.push({ place, path, text, fixed });
      this.#seen.add(text);
      entry.text = text.slice(-overlapCharacters);
      entry.isNew = false;
    }
    return judged;
  }
}
