/** What vectors are for: Cohere's words by Google's. */
const cohereByGoogle: ReadonlyMap<string, string> = new Map([
  ["RETRIEVAL_DOCUMENT", "search_document"],
  ["RETRIEVAL_QUERY", "search_query"],
  ["QUESTION_ANSWERING", "search_query"],
  ["FACT_VERIFICATION", "search_query"],
  ["CODE_RETRIEVAL_QUERY", "search_query"],
  ["CLASSIFICATION", "classification"],
  ["CLUSTERING", "clustering"],
]);

/** null where Cohere has no word for it. */
export function cohereTask(task: string): string | null {
  return cohereByGoogle.get(task) ?? null;
}

/** Google's word for one of Cohere's; any other word is given as it is, for the upstream to judge. */
export function taskOfCohere(inputType: string | null): string | null {
  if (inputType === null) return null;
  for (const [google, cohere] of cohereByGoogle) if (cohere === inputType) return google;
  return inputType;
}
