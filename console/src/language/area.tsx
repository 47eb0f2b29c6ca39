import { IntlMessageFormat } from "intl-messageformat";
import { Fragment, type ReactNode } from "react";
import { locale } from "./chosen.ts";
import type { Names, Placeholder, Tag, TextAt } from "./texts.ts";
import { addEnglish, type Text, textAt, textNamed } from "./words.ts";

type Value = string | number;
type Draw = (inside: ReactNode) => ReactNode;

/** The values that a text needs: none if it has no placeholders. */
type TextValues<Text> = Placeholder<Text> extends never ? [] : [values: Readonly<Record<Placeholder<Text>, Value>>];

type RichProps<Name, Text> = { readonly text: Name } & (Tag<Text> extends never
  ? { readonly tags?: undefined }
  : { readonly tags: Readonly<Record<Tag<Text>, Draw>> }) &
  (Placeholder<Text> extends never
    ? { readonly values?: undefined }
    : { readonly values: Readonly<Record<Placeholder<Text>, ReactNode>> });

interface Area<Words> {
  /**
   * A text of the area in the language of the page: `t("keys.title")`, `t("keys.count", { count: 3 })`. Texts are ICU messages:
   * `{name}`, `{count, plural, one {# key} other {# keys}}`; numbers are formatted for the locale. Can be called at module
   * level: the language does not change while a page is loaded.
   */
  readonly t: <Name extends Names<Words>>(name: Name, ...values: TextValues<TextAt<Words, Name>>) => string;
  /** A text with elements: `tags.link` renders the content between `<link>` and `</link>`. */
  readonly Rich: <Name extends Names<Words>>(props: RichProps<Name, TextAt<Words, Name>>) => ReactNode;
}

/** The texts of one area. Files that show them import their English, so no page loads the texts of others. */
export function area<const Prefix extends string, Words>(name: Prefix, words: Words): Area<Record<Prefix, Words>> {
  addEnglish(name, words);
  return { t: text, Rich } as Area<Record<Prefix, Words>>;
}

function text(name: string, values?: Readonly<Record<string, Value>>): string {
  return formatted(name, textNamed(name), values);
}

/** A text without placeholders; null if the page's language does not have it. */
export function textOrNull(name: string): string | null {
  const words = textAt(name);
  return words === null ? null : formatted(name, words);
}

function formatted(name: string, words: Text, values?: Readonly<Record<string, Value>>): string {
  return isPlain(words) ? words : String(messageOf(name, words).format(values));
}

interface AnyRichProps {
  readonly text: string;
  readonly tags?: Readonly<Record<string, Draw>>;
  readonly values?: Readonly<Record<string, ReactNode>>;
}

function Rich({ text: name, tags = {}, values = {} }: AnyRichProps): ReactNode {
  const words = textNamed(name);
  if (isPlain(words)) return words;
  const draw = Object.entries(tags).map(([tag, drawTag]) => [
    tag,
    (inside: readonly ReactNode[]) => drawTag(keyed(inside)),
  ]);
  const drawn = messageOf(name, words).format<ReactNode>({ ...values, ...Object.fromEntries(draw) });
  return Array.isArray(drawn) ? keyed(drawn) : (drawn as ReactNode);
}

/** Parts of a text never change their order, so the index is a stable key. */
function keyed(parts: readonly ReactNode[]): ReactNode {
  return parts.map((part, at) => <Fragment key={String(at)}>{part}</Fragment>);
}

/** Most texts have no placeholders or tags and need no formatting. */
function isPlain(words: Text): words is string {
  return typeof words === "string" && !/[{<']/.test(words);
}

const messages = new Map<string, IntlMessageFormat>();

/** Parsed once per name: a page shows the same text in every row. */
function messageOf(name: string, words: Text): IntlMessageFormat {
  const parsed = messages.get(name);
  if (parsed !== undefined) return parsed;
  const message = new IntlMessageFormat(words, locale);
  messages.set(name, message);
  return message;
}
