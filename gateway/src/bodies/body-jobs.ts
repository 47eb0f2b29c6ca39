import type { Provider, RequestedEmbedding, RequestedImages, VideoTurn, WireDialectId } from "#core/index.ts";
import type { BlobInfo, OutboundMethod } from "#ports/index.ts";
import type {
  CallEndpointId,
  DialectTraits,
  EmbeddingSides,
  Governing,
  NewId,
  PathFacts,
  RemixedVideo,
  RenamedMembers,
  ReplyFacts,
  RequestFacts,
  UsageConvention,
} from "#protocols/index.ts";

/** What stands at an address, to be put in its place. Its bytes come beside the order. */
export interface CarriedMedia {
  readonly url: string;
  readonly mediaType: string;
}

/** Who speaks on the two sides of a translated call. */
interface Sides {
  readonly endpoint: CallEndpointId;
  readonly dialect: WireDialectId;
  /** Our id of the account. */
  readonly account: string;
}

interface ImageSides {
  /** A model that makes pictures while it talks (Gemini); else a vendor that takes no forms. */
  readonly talks: boolean;
  /** Of a form; null for JSON. */
  readonly boundary: string | null;
  readonly upstreamModel: string;
}

/** A body with OpenAI's members of a video. */
export interface OpenAiVideoBody {
  /** Of a form; null for JSON. */
  readonly boundary: string | null;
  /** The video that is to be made anew; null where none is. */
  readonly remix: RemixedVideo | null;
}

/** What the bytes of a body may hold: almost none holds any, and to look closer costs more. */
export interface BodyMarks {
  /** Seals of ours. */
  readonly seals: boolean;
  /** Addresses of media. */
  readonly addresses: boolean;
  /** References to assets. */
  readonly assets: boolean;
}

/** Each job on a body: what is asked, and what is answered beside the bytes that it makes. All plain values. */
interface BodyJobs {
  /** Makes what comes out of a packed body. */
  unpack: { readonly ask: { readonly encoding: string; readonly bytesMax: number }; readonly answer: null };
  read: {
    readonly ask: {
      readonly endpoint: CallEndpointId;
      readonly dialect: WireDialectId;
      readonly path: PathFacts | null;
    };
    readonly answer: { readonly facts: RequestFacts; readonly marks: BodyMarks };
  };
  /** The ids of assets that a body refers to. */
  assets: { readonly ask: null; readonly answer: readonly string[] };
  /** Makes the body with addresses in the place of assets, or with the bytes that stand beside it. */
  "put-assets": {
    readonly ask: {
      readonly urls: readonly (readonly [id: string, url: string])[];
      /** By the references that they replace. */
      readonly media: readonly CarriedMedia[];
    };
    readonly answer: null;
  };
  /** Makes the body for an upstream of the caller's dialect. */
  patch: {
    readonly ask: { readonly endpoint: CallEndpointId; readonly facts: RequestFacts; readonly upstreamModel: string };
    readonly answer: null;
  };
  /** The same without what other vendors sealed in it; says what else had to give way. */
  unseal: {
    readonly ask: {
      readonly endpoint: CallEndpointId;
      readonly dialect: WireDialectId;
      readonly facts: RequestFacts;
      readonly upstreamModel: string;
    };
    readonly answer: readonly string[];
  };
  /** Makes the body without what is governed; says which members those were. */
  govern: { readonly ask: Governing; readonly answer: readonly string[] };
  /** Makes the body with what stands at its addresses in their place; nothing where they have to be fetched first, or none is. */
  inline: {
    /** null: nothing was fetched yet. */
    readonly ask: readonly CarriedMedia[] | null;
    /** Addresses to be fetched. */
    readonly answer: readonly string[];
  };
  /** Makes the body as the account's kind wants it; the rest of the request may change with it. */
  adjust: {
    readonly ask: {
      /** Without its secret, which stays where it is. */
      readonly provider: Provider;
      /** Its place among the lanes of the kind. */
      readonly lane: number;
      readonly upstreamModel: string;
      readonly stream: boolean;
      readonly method: OutboundMethod;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };
    readonly answer: {
      readonly method: OutboundMethod;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly warnings: readonly string[];
    };
  };
  /** Makes the body for an upstream of another dialect; nothing where addresses have to be fetched first. */
  translate: {
    readonly ask: Sides & {
      readonly model: string;
      readonly stream: boolean;
      readonly upstreamModel: string;
      readonly traits: DialectTraits;
      /** null: addresses were not fetched yet. */
      readonly media: readonly CarriedMedia[] | null;
    };
    readonly answer: {
      readonly fetch: readonly string[];
      /** See writeOutline. */
      readonly outline: string;
      readonly warnings: readonly string[];
    };
  };
  /** Makes the body for an upstream that is asked for pictures in another way. */
  images: {
    readonly ask: ImageSides;
    readonly answer: { readonly asked: RequestedImages; readonly warnings: readonly string[] };
  };
  /** Makes the body for an upstream that is asked for vectors in another way. */
  embeddings: {
    readonly ask: EmbeddingSides & { readonly upstreamModel: string };
    readonly answer: { readonly asked: RequestedEmbedding; readonly warnings: readonly string[] };
  };
  /** Makes the caller's answer of what such an upstream answered. */
  "embeddings-answer": {
    readonly ask: EmbeddingSides & RequestedEmbedding & { readonly model: string; readonly inputTokens: number };
    readonly answer: null;
  };
  /** Listens to a whole reply. */
  reply: {
    readonly ask: {
      readonly endpoint: CallEndpointId | null;
      readonly dialect: WireDialectId;
      readonly usage: UsageConvention | undefined;
    };
    readonly answer: ReplyFacts;
  };
  /** Makes the caller's answer of a whole reply of another dialect. */
  answer: {
    readonly ask: Sides & {
      readonly outline: string;
      readonly model: string;
      readonly createdAt: number;
      readonly wantsUsage: boolean;
      readonly stream: boolean;
      readonly usage: UsageConvention | undefined;
    };
    readonly answer: { readonly warnings: readonly string[] };
  };
  /** The same for pictures of a model that makes them while it talks. */
  "image-answer": {
    readonly ask: {
      readonly createdAt: number;
      readonly stream: "image_generation" | "image_edit" | null;
      readonly asked: RequestedImages;
    };
    readonly answer: { readonly images: number };
  };
  /** Reads the body of a video task, and makes what is to be kept of its material; nothing where it has little or none. */
  "video-body": {
    readonly ask: {
      readonly taskId: string;
      readonly apart: boolean;
      /** null: its members are a task's own. */
      readonly openai: OpenAiVideoBody | null;
    };
    readonly answer: {
      /** The body as JSON text, marks in the place of what was made. */
      readonly text: string;
      /** SHA-256, lower-case hex: of the body as it came; of OpenAI's, of what it was read as (each form has a boundary of its own). */
      readonly digest: string;
      /** What the caller called members of the text. */
      readonly renamed: RenamedMembers;
      readonly material: BlobInfo | null;
    };
  };
  /** Makes the request for a video out of its turn; the body is the material that its marks stand for. */
  "video-request": {
    readonly ask: {
      /** Without its secret, which stays where it is. */
      readonly provider: Provider;
      readonly upstreamModel: string;
      readonly turn: VideoTurn;
      readonly taskId: string;
      readonly callbackUrl: string | null;
      /** null: there is no material, and no mark means anything. */
      readonly material: BlobInfo | null;
      /** What stands beside, by the addresses that it replaces. */
      readonly media: readonly CarriedMedia[];
    };
    readonly answer: {
      readonly method: OutboundMethod;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };
  };
}

export type BodyJobKind = keyof BodyJobs;
export type BodyAsk<Kind extends BodyJobKind> = BodyJobs[Kind]["ask"];
export type BodyAnswer<Kind extends BodyJobKind> = BodyJobs[Kind]["answer"];

/** What a job works with beside its order. */
export interface JobContext {
  readonly newId: NewId;
}

/** What a job came to. `made`: new bytes; null where it makes none. */
interface Done<Kind extends BodyJobKind> {
  readonly made: Uint8Array | null;
  readonly answer: BodyAnswer<Kind>;
}

/** One job: from a body, what is asked of it, and bytes that come beside it. Throws Failure. */
export type Job<Kind extends BodyJobKind> = (
  body: Uint8Array,
  ask: BodyAsk<Kind>,
  beside: readonly Uint8Array[],
  context: JobContext,
) => Done<Kind>;
