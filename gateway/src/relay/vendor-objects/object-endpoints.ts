import type { UpstreamObjectKind } from "#core/index.ts";

/** What the vendor charges for a call, if it charges anything. */
type ObjectFee = "container" | "vector_store" | "vector_store_search";

/** An endpoint for objects that vendors store: conversations, containers, skills, vector stores. */
export interface ObjectEndpoint {
  /** With names in braces, as the vendors have it. */
  readonly path: string;
  /** The name in metrics. */
  readonly name: string;
  readonly methods: readonly ("GET" | "POST" | "DELETE")[];
  readonly collection: ObjectCollection;
  /** Of a POST. Absent: free. */
  readonly fee?: ObjectFee;
}

/** `list` is the kind of which the gateway itself answers lists; absent: the vendor has no such list. */
export const objectCollections = {
  conversations: { kind: "conversation", vendors: ["openai"], list: false },
  containers: { kind: "container", vendors: ["openai"], list: true },
  skills: { kind: "skill", vendors: ["openai", "anthropic"], list: true },
  vector_stores: { kind: "vector_store", vendors: ["openai"], list: true },
} as const satisfies Record<
  string,
  { readonly kind: UpstreamObjectKind; readonly vendors: readonly string[]; readonly list: boolean }
>;

type ObjectCollection = keyof typeof objectCollections;

type Row = readonly [rest: string, methods: string, fee?: ObjectFee];

/** Source: openai 7.57.0 and @anthropic-ai/sdk 1.13.0. */
const rows: Readonly<Record<ObjectCollection, readonly Row[]>> = {
  conversations: [
    ["", "POST"],
    ["/{id}", "GET POST DELETE"],
    ["/{id}/items", "GET POST"],
    ["/{id}/items/{item}", "GET DELETE"],
  ],
  containers: [
    ["", "POST GET", "container"],
    ["/{id}", "GET DELETE"],
    ["/{id}/files", "GET POST"],
    ["/{id}/files/{file}", "GET DELETE"],
    ["/{id}/files/{file}/content", "GET"],
  ],
  skills: [
    ["", "POST GET"],
    ["/{id}", "GET POST DELETE"],
    ["/{id}/content", "GET"],
    ["/{id}/versions", "GET POST"],
    ["/{id}/versions/{version}", "GET DELETE"],
    ["/{id}/versions/{version}/content", "GET"],
  ],
  vector_stores: [
    ["", "POST GET", "vector_store"],
    ["/{id}", "GET POST DELETE"],
    ["/{id}/search", "POST", "vector_store_search"],
    ["/{id}/files", "GET POST", "vector_store"],
    ["/{id}/files/{file}", "GET POST DELETE"],
    ["/{id}/files/{file}/content", "GET"],
    ["/{id}/file_batches", "POST", "vector_store"],
    ["/{id}/file_batches/{batch}", "GET"],
    ["/{id}/file_batches/{batch}/cancel", "POST"],
    ["/{id}/file_batches/{batch}/files", "GET"],
  ],
};

export const objectEndpoints: readonly ObjectEndpoint[] = Object.entries(rows).flatMap(([name, own]) => {
  const collection = name as ObjectCollection;
  return own.map(([rest, methods, fee]): ObjectEndpoint => {
    const endpoint = {
      path: `/v1/${collection}${rest}`,
      name: rest === "" ? collection : objectCollections[collection].kind,
      methods: methods.split(" ") as ObjectEndpoint["methods"],
      collection,
    };
    return fee === undefined ? endpoint : { ...endpoint, fee };
  });
});
