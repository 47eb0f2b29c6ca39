import { bounds, detectorContext, type Finding } from "#core/index.ts";
import {
  type Edit,
  plainSpan,
  readTexts,
  type StreamShape,
  splice,
  stringMember,
  type TextSpan,
} from "#protocols/index.ts";
import { dataOf, EventSplitter } from "./event-splitter.ts";
import {
  appliesTo,
  count,
  isMasking,
  type MaskedBytes,
  maskedBytes,
  mergeFindings,
  pathOf,
  Tallies,
} from "./inspect.ts";
import { escapedOffset, escapeText, isBareNumber, plainText, unescaped } from "./json-text.ts";
import type { JudgedTexts } from "./judged-texts.ts";
import type { Placeholders } from "./placeholders.ts";
import type { LocatingRule } from "./policy.ts";

/** Bytes of events that wait for the end of a finding. */
const waitingBytesMax = 1024 * 1024;
/** A text without a piece in this many events with other texts is sent to its end. */
const idleEventsMax = 4;

export interface StreamInspectorOptions {
  readonly shape: StreamShape;
  readonly rules: readonly LocatingRule[];
  readonly placeholders: Placeholders;
  readonly checkTime: () => void;
  /** Collects the texts for models and services; null: none judges them. */
  readonly judged: JudgedTexts | null;
  /** Called for each finding that refuses the answer. */
  readonly onBlock: (rule: LocatingRule) => never;
}

interface WaitingEvent {
  readonly bytes: Buffer;
  /** Number of its pieces that are not final. */
  open: number;
  readonly edits: Edit[];
  /** Cleared if a text is changed. */
  readonly repeats: Edit[];
  /** Findings in texts that do not continue, by their key. */
  readonly counts: Map<string, number>;
}

/** The findings of one rule in a text. */
interface RuleFindings {
  readonly rule: LocatingRule;
  readonly index: number;
  readonly findings: readonly Finding[];
}

/** A piece of a text in one event. Offsets in the text of its lane. */
interface Segment {
  readonly event: WaitingEvent;
  readonly span: Edit;
  start: number;
  end: number;
}

/** A text that continues over the events of a stream. */
interface Lane {
  /** Its first label. */
  readonly choice: string;
  readonly span: TextSpan;
  /** Text that is not final, after some that is. With JSON's escapes if it is JSON in a string, as in the events. */
  text: string;
  /** Up to here it is final. */
  final: number;
  /** No finding that ends later begins before this. Before `final` only if the lane was paused. */
  searched: number;
  segments: Segment[];
  /** Final, for segments that are not. */
  edits: Edit[];
  isEnded: boolean;
  /** Events with other texts of the same choice since its last piece. */
  idleEvents: number;
}

/**
 * Checks the texts of a stream, and masks and restores values in them. An event waits until no finding can begin in it and end in a
 * later one, usually for one event. Events stay in order, and are changed only where a text is.
 */
export class StreamInspector {
  readonly tallies: Tallies;
  sealed = 0;
  media = 0;
  readonly #options: StreamInspectorOptions;
  readonly #splitter = new EventSplitter();
  readonly #lanes = new Map<string, Lane>();
  /** Counted findings by their key, if events repeat texts. */
  readonly #counted = new Map<string, number>();
  /** Findings in texts that continue, by their key. */
  readonly #laneCounts = new Map<string, number>();
  #waiting: WaitingEvent[] = [];
  #waitingBytes = 0;
  #uninspected: Uint8Array[] = [];
  #isAbandoned = false;

  constructor(options: StreamInspectorOptions) {
    this.#options = options;
    this.tallies = new Tallies(options.rules.length);
  }

  get held(): number {
    return this.#waitingBytes + this.#splitter.held;
  }

  get isBetweenEvents(): boolean {
    return this.#splitter.held === 0;
  }

  /** After `abandon`: nothing is inspected any more. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** Returns the bytes that may be sent. */
  push(piece: Uint8Array): Uint8Array[] {
    return this.#isAbandoned ? [piece] : this.#read(this.#splitter.push(piece), false);
  }

  /** Returns all remaining bytes. */
  end(): Uint8Array[] {
    if (this.#isAbandoned) return [];
    const rest = this.#splitter.rest();
    return this.#read(rest.length === 0 ? [] : [rest], true);
  }

  /** After an error: the bytes that were not returned, without changes. Later bytes are not inspected. */
  abandon(): readonly Uint8Array[] {
    this.#isAbandoned = true;
    const left = [...this.#uninspected, this.#splitter.rest()];
    this.#uninspected = [];
    this.#waiting = [];
    return left;
  }

  #read(events: readonly Buffer[], isEnd: boolean): Uint8Array[] {
    const out: Uint8Array[] = [];
    let read = 0;
    try {
      for (const event of events) {
        this.#event(event, out);
        read++;
      }
      if (isEnd) for (const lane of this.#lanes.values()) this.#endLane(lane);
      this.#release(out);
      if (this.#waitingBytes > waitingBytesMax || this.#splitter.held > bounds.imageEventBytesMax)
        throw new Error("a text of the answer is too long to be checked");
      return out;
    } catch (thrown) {
      this.#uninspected = [...out, ...this.#waiting.map(({ bytes }) => bytes), ...events.slice(read)];
      throw thrown;
    }
  }

  #event(bytes: Buffer, out: Uint8Array[]): void {
    this.#options.checkTime();
    const { shape } = this.#options;
    const { data, start: offset, others } = dataOf(bytes);
    const event: WaitingEvent = { bytes, open: 0, edits: [], repeats: [], counts: new Map() };
    for (const line of others) {
      if (!eventName.test(bytes.toString("latin1", line.start, line.end))) {
        this.#whole(event, bytes, plainSpan(line.start, line.end), 0);
      }
    }
    // Sent at once, since they contain no text.
    if (data.length === 0 || ping.test(data.toString("latin1", 0, 20))) {
      this.#write(event, out);
      return;
    }
    const type = data[0] === OPEN_OBJECT ? stringMember(data, 0, shape.typeMember ?? "type") : null;
    const read = readTexts(data, shape.event, { labels: shape.labels });
    this.sealed += read.sealed;
    this.media += read.media;
    for (const repeat of read.repeats) event.repeats.push(moved(repeat, offset));
    const continued = new Set<Lane>();
    for (const span of read.texts) {
      if (span.piece) continued.add(this.#piece(event, data, span, offset));
      else this.#whole(event, data, span, offset);
    }
    if (this.#lanes.size > continued.size) this.#pauseOthers(continued);
    for (const parent of read.ended) this.#endLanes(parent.key());
    if (type !== null && read.root !== null && shape.endsTexts(type)) this.#endLanes(read.root.key());
    this.#waiting.push(event);
    this.#waitingBytes += bytes.length;
    this.#release(out);
  }

  /** A text that does not continue. */
  #whole(event: WaitingEvent, data: Buffer, span: TextSpan, offset: number): void {
    const plain = plainText(data, span);
    this.#options.judged?.addWhole(span, judgedPart(data, span, plain.text));
    const found = this.#find(plain.text, span, 0);
    const toMask = this.#count(found, span, plain, { to: plain.text.length, event });
    const masked = mergeFindings(plain.text, toMask);
    const restored = span.signed || span.kind === "file" ? [] : this.#restored(plain.text, masked);
    for (const each of masked) event.edits.push(moved(this.#edit(maskedBytes(span, plain, each), false), offset));
    for (const each of restored) {
      event.edits.push(moved(this.#edit(maskedBytes(span, plain, { ...each, value: each.type }), true), offset));
    }
  }

  #edit(range: MaskedBytes, isRestored: boolean): Edit {
    const { placeholders } = this.#options;
    const text = isRestored
      ? (placeholders.valueOf(range.value) ?? range.value)
      : placeholders.add(range.type, range.value);
    const quote = range.isBare ? escapeText('"', range.levels - 1) : "";
    return { start: range.start, end: range.end, text: quote + escapeText(text, range.levels) + quote };
  }

  #piece(event: WaitingEvent, data: Buffer, span: TextSpan, offset: number): Lane {
    const parent = span.parent.key();
    const key = `${parent}${span.place}/${span.name ?? `#${span.position}`}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = {
        choice: parent.slice(0, parent.indexOf(";") + 1),
        span,
        text: "",
        final: 0,
        searched: 0,
        segments: [],
        edits: [],
        isEnded: false,
        idleEvents: 0,
      };
      this.#lanes.set(key, lane);
    }
    const piece = unescaped(data.toString("utf8", span.start, span.end));
    const start = lane.text.length;
    lane.text += piece;
    this.#options.judged?.add(key, span, piece);
    const place = moved({ start: span.start, end: span.end, text: "" }, offset);
    lane.segments.push({ event, span: place, start, end: lane.text.length });
    event.open++;
    lane.idleEvents = 0;
    this.#advance(lane);
    return lane;
  }

  /**
   * Sends the rest of texts that seem to have ended because others of their choice continue, such as reasoning before an answer. If they
   * continue after all, a finding across the gap still refuses the answer, but only its second part is masked.
   */
  #pauseOthers(continued: ReadonlySet<Lane>): void {
    const choices = new Set([...continued].map(({ choice }) => choice));
    for (const lane of this.#lanes.values()) {
      if (continued.has(lane) || !choices.has(lane.choice)) continue;
      lane.idleEvents++;
      if (lane.idleEvents === idleEventsMax) this.#advance(lane);
    }
  }

  #endLanes(prefix: string): void {
    for (const [key, lane] of this.#lanes) {
      if (!key.startsWith(prefix)) continue;
      this.#endLane(lane);
      this.#lanes.delete(key);
    }
  }

  #endLane(lane: Lane): void {
    lane.isEnded = true;
    this.#advance(lane);
  }

  /** Makes as much of a lane's text final as possible. */
  #advance(lane: Lane): void {
    const { span, isEnded } = lane;
    const isPaused = lane.idleEvents >= idleEventsMax;
    const { rules, placeholders } = this.#options;
    const isJson = span.json;
    const whole = isJson && !isEnded ? lane.text.slice(0, wholeEscapes(lane.text)) : lane.text;
    const plain = isJson ? unescaped(whole) : whole;
    const plainOffset = (raw: number): number => (isJson ? unescaped(lane.text.slice(0, raw)).length : raw);
    const from = plainOffset(lane.searched);
    let to = plain.length;
    if (!isEnded) {
      for (const { guardrail, detector } of rules) {
        if (appliesTo(guardrail, span)) to = Math.min(to, detector.pendingFrom(plain, from));
      }
      to = Math.min(to, placeholders.pendingFrom(plain));
    }
    to = Math.max(to, from);
    const found = this.#find(plain, span, from);
    to = Math.max(from, this.#pendingStart(found, span, to));
    const searched = to;
    if (isPaused) to = plain.length;
    const sent = plainOffset(lane.final);
    const masked = mergeFindings(plain, this.#count(found, span, { text: plain }, { to, event: null }));
    const restored = span.signed
      ? []
      : this.#restored(plain, masked).filter(({ start, end }) => start >= sent && end <= to);
    const rawAt = (offset: number): number => (isJson ? escapedOffset(whole, offset) : offset);
    const levels = isJson ? 1 : 0;
    for (const { start, end, type, value } of masked) {
      const quote = isJson && isBareNumber(plain, start, end) ? '"' : "";
      const text = quote + escapeText(placeholders.add(type, value), levels) + quote;
      lane.edits.push({ start: rawAt(start), end: rawAt(end), text });
    }
    for (const { start, end, type } of restored) {
      lane.edits.push({
        start: rawAt(start),
        end: rawAt(end),
        text: escapeText(placeholders.valueOf(type) ?? type, levels),
      });
    }
    lane.final = isEnded ? lane.text.length : Math.max(lane.final, rawAt(to));
    lane.searched = isEnded ? lane.text.length : rawAt(searched);
    this.#settle(lane);
    this.#trim(lane, isJson);
  }

  #find(plain: string, span: TextSpan, from: number): readonly RuleFindings[] {
    return this.#options.rules.flatMap((rule, index) => {
      if (!appliesTo(rule.guardrail, span)) return [];
      const findings = rule.detector.find(plain, from);
      return findings.length === 0 ? [] : [{ rule, index, findings }];
    });
  }

  /** The start of the first finding to mask that ends after `to`; else `to`. */
  #pendingStart(found: readonly RuleFindings[], span: TextSpan, to: number): number {
    let first = to;
    for (const { rule, findings } of found) {
      if (!isMasking(rule.guardrail) || span.signed) continue;
      for (const { start, end } of findings) if (start < first && end > to) first = start;
    }
    return first;
  }

  /**
   * Counts what ends up to `to`, and returns what is to be masked. Calls `onBlock` also for a finding that ends later. `event`: of a text
   * that does not continue.
   */
  #count(
    found: readonly RuleFindings[],
    span: TextSpan,
    { text }: { readonly text: string },
    { to, event }: { readonly to: number; readonly event: WaitingEvent | null },
  ): Finding[] {
    const toMask: Finding[] = [];
    for (const { rule, index, findings } of found) {
      const { guardrail } = rule;
      const isBlocked = guardrail.action === "block" && guardrail.enforce;
      for (const finding of findings) {
        if (finding.end > to && !isBlocked) continue;
        const tally = this.tallies.of(index);
        if (this.#isNew(`${guardrail.id}\n${finding.type}\n${text.slice(finding.start, finding.end)}`, event)) {
          count(tally, finding.type, pathOf(span));
        }
        if (isBlocked) this.#options.onBlock(rule);
        if (!isMasking(guardrail)) continue;
        if (span.kind === "file") {
          tally.inFiles++;
          this.#options.onBlock(rule);
        }
        if (span.signed) tally.unmasked++;
        else toMask.push(finding);
      }
    }
    return toMask;
  }

  /** Whether a finding is not the repetition of one in an earlier event. */
  #isNew(key: string, event: WaitingEvent | null): boolean {
    if (this.#options.shape.repeatsTexts !== true) return true;
    const counted = this.#counted.get(key) ?? 0;
    const counts = event === null ? this.#laneCounts : event.counts;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= counted) return false;
    this.#counted.set(key, count);
    return true;
  }

  #restored(plain: string, masked: readonly Finding[]): Finding[] {
    return this.#options.placeholders
      .find(plain)
      .filter((each) => !masked.some(({ start, end }) => start < each.end && each.start < end));
  }

  /** Writes the segments that are final into their events. */
  #settle(lane: Lane): void {
    const remaining: Segment[] = [];
    for (const segment of lane.segments) {
      if (segment.end > lane.final) {
        remaining.push(segment);
        continue;
      }
      segment.event.open--;
      const edits = lane.edits.filter(({ start, end }) => start < segment.end && end > segment.start);
      if (edits.length === 0) continue;
      let text = "";
      let at = segment.start;
      for (const edit of edits) {
        text += lane.text.slice(at, Math.max(at, edit.start));
        // A placeholder goes where its value begins.
        if (edit.start >= segment.start) text += edit.text;
        at = Math.min(edit.end, segment.end);
      }
      text += lane.text.slice(at, segment.end);
      segment.event.edits.push({ ...segment.span, text: escapeText(text, 1) });
    }
    lane.segments = remaining;
  }

  #trim(lane: Lane, isJson: boolean): void {
    const first = Math.min(lane.segments[0]?.start ?? lane.text.length, lane.final);
    let cut = Math.max(0, Math.min(first, lane.searched - detectorContext));
    if (isJson) cut = wholeEscapes(lane.text.slice(0, cut));
    if (cut === 0) return;
    lane.text = lane.text.slice(cut);
    lane.final -= cut;
    lane.searched -= cut;
    for (const segment of lane.segments) {
      segment.start -= cut;
      segment.end -= cut;
    }
    lane.edits = lane.edits.flatMap(({ start, end, text }) =>
      end <= cut ? [] : [{ start: start - cut, end: end - cut, text }],
    );
  }

  #release(out: Uint8Array[]): void {
    let count = 0;
    for (const event of this.#waiting) {
      if (event.open > 0) break;
      count++;
      this.#waitingBytes -= event.bytes.length;
      this.#write(event, out);
    }
    if (count > 0) this.#waiting = this.#waiting.slice(count);
  }

  #write({ bytes, edits, repeats }: WaitingEvent, out: Uint8Array[]): void {
    const all = edits.length === 0 ? [] : [...edits, ...repeats].sort((a, b) => a.start - b.start);
    out.push(all.length === 0 ? bytes : splice(bytes, all));
  }
}

/** Like a text in pieces: JSON in a string keeps its own escapes. */
function judgedPart(data: Buffer, span: TextSpan, plain: string): string {
  return span.json && span.kind === "string" ? unescaped(data.toString("utf8", span.start, span.end)) : plain;
}

const OPEN_OBJECT = 0x7b;
const ping = /^\{ ?"type": ?"ping" ?\}$/;
const eventName = /^event: ?[a-z_.]{1,64}$/;

function moved<T extends { readonly start: number; readonly end: number }>(range: T, offset: number): T {
  return { ...range, start: range.start + offset, end: range.end + offset };
}

/** The length of a text without an incomplete escape at its end. */
function wholeEscapes(text: string): number {
  const partial = /(?:^|[^\\])(?:\\\\)*(\\(?:u[\da-fA-F]{0,3})?)$/.exec(text);
  return text.length - (partial?.[1]?.length ?? 0);
}
