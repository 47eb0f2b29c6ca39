import type { GuardrailPlace } from "@sluice/contract/words";

/**
 * Where texts are in the JSON of a dialect. A member without a shape is text, so that new members are checked. Arrays have
 * the shape of their items.
 */
export interface TextShape {
  /** Default: as in the enclosing value. */
  readonly place?: GuardrailPlace;
  /**
   * Strings that are not texts.
   * structure  ids, names of types and models
   * sealed     text that only the vendor can read
   * media      base64, if it is not a text file
   */
  readonly skip?: "structure" | "sealed" | "media";
  /** A string that holds JSON. */
  readonly json?: true;
  /** A URL: of media if it is a data URL. */
  readonly url?: true;
  /** The caller's own data: names of members and numbers count as text, too. */
  readonly data?: true;
  /** A piece of a text that continues in later events of a stream. */
  readonly piece?: true;
  /** In a stream: the texts of all items continue each other, since their positions change between events. */
  readonly joined?: true;
  /** In a stream: once the member is not null, no text of its object continues. */
  readonly ends?: true;
  /** Repeats a text of the same event or answer token by token: cleared if that text is changed. The value is what to write. */
  readonly repeats?: "null" | "[]";
  readonly members?: Readonly<Record<string, TextShape>>;
  /** Of all other members. Default: any text. */
  readonly others?: TextShape;
  /** Text that its vendor has signed: it is checked, and never changed. */
  readonly signed?: true;
  /** The object's place and members by the value of one of its members. */
  readonly by?: readonly ShapeBy[];
}

export interface ShapeBy {
  readonly member: string;
  readonly shapes: Readonly<Record<string, Pick<TextShape, "place" | "members">>>;
}

/** How texts continue between the events of a stream. */
export interface StreamShape {
  readonly event: TextShape;
  /** Members that identify a text of a stream, outer ones first. */
  readonly labels: readonly string[];
  /** The member with an event's type. Default: `type`. */
  readonly typeMember?: string;
  /** Whether an event of this type ends the texts that have its labels. */
  readonly endsTexts: (type: string) => boolean;
  /** Later events contain texts of earlier ones again, whole. */
  readonly repeatsTexts?: true;
}

export interface DialectTexts {
  readonly request: TextShape;
  readonly answer: TextShape;
  readonly stream: StreamShape;
}
