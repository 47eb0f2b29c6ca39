import type { Remark, RemarkCode, remarkCodes } from "./remark-codes.ts";

/** An address that does not listen, told alike wherever messages are sent. */
const toAnAddress = {
  answered: "The address answered {status}.",
  unreachable: "The address could not be reached, or is not a public one.",
  timeout: "The address did not answer in time.",
} as const;

/**
 * Sentences that the database keeps as they are. Who writes one takes it from here, so that whoever reads it later finds its code
 * and its params again.
 */
const storedSentences = {
  taskEvent: {
    sent: "sent to {provider} as {model}",
    accepted: "accepted by the upstream",
    found_in_list: "found in the upstream's list",
  },
  callback: toAnAddress,
  alert: {
    ...toAnAddress,
    no_mail_server: "No mail server is configured: set SLUICE_SMTP_URL.",
    switched_off: "The notice was switched off.",
  },
} as const satisfies { readonly [Kind in keyof typeof remarkCodes]?: Readonly<Record<RemarkCode<Kind>, string>> };

type StoredKind = keyof typeof storedSentences;

export function storedSentence<Kind extends StoredKind>(kind: Kind, { code, params }: Remark<Kind>): string {
  const sentences: Readonly<Record<string, string>> = storedSentences[kind];
  const values: Readonly<Record<string, string | number>> = params;
  return (sentences[code] ?? "").replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

/** null: another sentence, such as a provider's own. */
export function storedRemark<Kind extends StoredKind>(kind: Kind, sentence: string | null): Remark<Kind> | null {
  if (sentence === null) return null;
  for (const [code, pattern] of patterns[kind]) {
    const found = pattern.exec(sentence);
    if (found === null) continue;
    const params = Object.entries(found.groups ?? {}).map(([name, text]) => [
      name,
      name === "status" ? Number(text) : text,
    ]);
    return { code, params: Object.fromEntries(params) } as Remark<Kind>;
  }
  return null;
}

type Patterns = readonly (readonly [code: string, pattern: RegExp])[];
const patterns: { readonly [Kind in StoredKind]: Patterns } = {
  taskEvent: patternsOf(storedSentences.taskEvent),
  callback: patternsOf(storedSentences.callback),
  alert: patternsOf(storedSentences.alert),
};

/** A provider's id and a status have no spaces; what stands last may have any. */
function patternsOf(sentences: Readonly<Record<string, string>>): Patterns {
  return Object.entries(sentences).map(([code, sentence]) => {
    const source = sentence
      .split(/(\{\w+\})/)
      .map((part) => (/^\{\w+\}$/.test(part) ? `(?<${part.slice(1, -1)}>${valuePattern(part)})` : RegExp.escape(part)));
    return [code, new RegExp(`^${source.join("")}$`)];
  });
}

function valuePattern(hole: string): string {
  if (hole === "{status}") return "\\d+";
  return hole === "{model}" ? ".+" : "\\S+";
}
