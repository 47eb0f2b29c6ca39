type Params = Readonly<Record<string, string | number>>;

/** What the gateway says by code beside its English sentence. */
interface SaidByCode {
  readonly code: string;
  readonly params?: Params;
}

/**
 * Says what the gateway says in the words of the page: those of the catalogue for its code, which stand under `place`. A code that
 * the catalogue lacks, of a gateway that is newer, stays as the gateway says it: in its own English sentence.
 */
export function remarks(t: (name: never, ...values: never) => string, place: string, words: object) {
  const text = t as unknown as (name: string, values?: Params) => string;
  return (remark: SaidByCode | null | undefined, sentence: string): string => {
    if (remark == null || !Object.hasOwn(words, remark.code)) return sentence;
    try {
      return text(`${place}.${remark.code}`, remark.params);
    } catch {
      // A param that this catalogue's text needs and that gateway does not send.
      return sentence;
    }
  };
}
