type Params = Readonly<Record<string, string | number>>;

/** A code and its parameters, which the gateway sends with an English sentence. */
interface Remark {
  readonly code: string;
  readonly params?: Params;
}

/**
 * Translates the remarks of the gateway by their code, with the texts under `place`. Falls back to the gateway's English
 * sentence for a code that the console does not have, from a newer gateway.
 */
export function remarks(t: (name: never, ...values: never) => string, place: string, words: object) {
  const text = t as unknown as (name: string, values?: Params) => string;
  return (remark: Remark | null | undefined, sentence: string): string => {
    if (remark == null || !Object.hasOwn(words, remark.code)) return sentence;
    try {
      return text(`${place}.${remark.code}`, remark.params);
    } catch {
      // The text needs a parameter that this gateway does not send.
      return sentence;
    }
  };
}
