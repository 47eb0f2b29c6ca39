import { bounds } from "#core/index.ts";
import { type Loose, objectIn, textsIn } from "../loose.ts";
import { lineOf } from "../names.ts";

/** Tags of a key are words at LiteLLM: `env:prod` becomes `env` = `prod`, `prod` becomes `prod` = `true`. */
export function tagsOf(row: Loose): { readonly tags?: Readonly<Record<string, string>> } {
  const tags = Object.fromEntries(textsIn(objectIn(row, "metadata"), "tags").slice(0, bounds.tagsMax).map(tagOf));
  return Object.keys(tags).length === 0 ? {} : { tags };
}

export function tagOf(word: string): readonly [name: string, value: string] {
  const text = lineOf(word);
  const at = text.search(/[:=]/);
  const [name, value] = at <= 0 ? [text, "true"] : [text.slice(0, at), text.slice(at + 1)];
  return [name.slice(0, partMax), value.slice(0, partMax)];
}

const partMax = 128;
