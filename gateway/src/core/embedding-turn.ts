/**
 * One call for vectors in neutral form. Built only when the upstream is asked in another way than the caller asks. null means
 * "not said".
 */
export interface EmbeddingTurn {
  readonly inputs: readonly EmbeddingInput[];
  /** Numbers in each vector. */
  readonly dimensions: number | null;
  /** What the vectors are for, in Google's words, of which there are the most: RETRIEVAL_QUERY, CLUSTERING … */
  readonly task: string | null;
  /** Whether a text that is too long is cut instead of refused. */
  readonly truncate: boolean | null;
}

export interface EmbeddingInput {
  readonly text: string;
  /** Of a document that is to be found later. */
  readonly title: string | null;
}

/** What an answer is written by: the turn without its texts. */
export interface RequestedEmbedding {
  readonly count: number;
  /** The vectors are wanted as base64 of little-endian 32-bit floats. */
  readonly base64: boolean;
}

export interface EmbeddingAnswer {
  /** In the order of the inputs. */
  readonly vectors: readonly (readonly number[])[];
  /** null when the upstream reported none. */
  readonly inputTokens: number | null;
}
