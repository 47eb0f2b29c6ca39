import type { en } from "./en/index.ts";

/** All texts of the console, by area and name. English is the original. */
export type ConsoleTexts = Translation<typeof en>;

/**
 * Texts of the provider forms. `setting` has the labels of settings that all provider types share; a provider type may override them.
 * English, and any text that a translation lacks, comes from the gateway with the form.
 */
export interface ProviderWords {
  readonly setting: SettingWords;
  readonly kind: Readonly<
    Record<
      string,
      { readonly title?: string; readonly baseUrl?: string; readonly apiKey?: string; readonly setting?: SettingWords }
    >
  >;
}
type SettingWords = Readonly<Record<string, { readonly label: string; readonly help?: string }>>;

/** A language other than English. */
export type TranslatedTexts = ConsoleTexts & { readonly kinds?: ProviderWords };

/** Some texts in another language, under the same names. */
export type Translation<Words> = {
  readonly [Name in keyof Words]: Words[Name] extends string ? string : Translation<Words[Name]>;
};

/** The names of texts: `list.title`. */
export type Names<Words> = {
  [Name in keyof Words & string]: Words[Name] extends string ? Name : `${Name}.${Names<Words[Name]>}`;
}[keyof Words & string];

export type TextAt<Words, Name extends string> = Name extends `${infer Head}.${infer Rest}`
  ? Head extends keyof Words
    ? TextAt<Words[Head], Rest>
    : never
  : Name extends keyof Words
    ? Words[Name]
    : never;

/** The placeholders of a text: `{name}` and `{count, plural, …}`. */
export type Placeholder<Text> = Text extends `${string}{${infer Inside}}${infer Rest}`
  ? Head<Inside> | Placeholder<Nested<Inside>> | Placeholder<Rest>
  : never;
type Head<Inside extends string> = Inside extends `${infer Name},${string}` ? Plain<Name> : Plain<Inside>;
type Nested<Inside extends string> = Inside extends `${string}{${infer Deeper}` ? `{${Deeper}}` : "";
/** Plural branches are in braces too; they contain spaces or a number sign, or are nested deeper. */
type Plain<Name extends string> = Name extends `${string}${" " | "#" | "{"}${string}` ? never : Name;

/** The elements of a text: `Read <link>the guide</link>.` */
export type Tag<Text> = Text extends `${string}</${infer Name}>${infer Rest}` ? Name | Tag<Rest> : never;
