import type { AnswerEvent, BlockHead, Citation, Failure, Finish, Seal, Usage } from "#core/index.ts";
import type { AnswerContext, EventWriter } from "../codec.ts";
import { CitationBuffer } from "./citations.ts";

/** Base of event writers: a method for each kind of event, which returns whole events or an empty string. */
export abstract class AnswerWriter<Context extends Pick<AnswerContext, "warn"> = AnswerContext> implements EventWriter {
  protected readonly context: Context;
  protected usage: Usage | null = null;
  protected finish: Finish | null = null;
  /** Citations of the open block, for writers that add them at its end. */
  protected readonly citations: CitationBuffer;
  /** Nothing is written after an error or the end. */
  protected ended = false;

  constructor(context: Context) {
    this.context = context;
    this.citations = new CitationBuffer(context.warn);
  }

  write(event: AnswerEvent): string {
    if (this.ended) return "";
    switch (event.kind) {
      case "start":
        return this.start(event.id, event.model);
      case "block-start":
        return this.startBlock(event.block);
      case "block-delta":
        return this.delta(event.text);
      case "block-citation":
        return this.cite(event.citation);
      case "block-seal":
        return this.seal(event.seal);
      case "block-end":
        return this.endBlock();
      case "usage":
        this.usage = event.usage;
        return "";
      case "finish":
        this.finish = event.finish;
        return this.writeFinish(event.finish);
      case "error":
        this.ended = true;
        return this.fail(event.failure);
      case "end": {
        const text = this.end();
        this.ended = true;
        return text;
      }
    }
  }

  protected abstract start(id: string | null, model: string | null): string;
  protected abstract startBlock(head: BlockHead): string;
  protected abstract delta(text: string): string;
  protected abstract end(): string;

  protected cite(citation: Citation): string {
    this.citations.add(citation);
    return "";
  }

  protected seal(_seal: Seal): string {
    return "";
  }

  protected endBlock(): string {
    return "";
  }

  protected writeFinish(_finish: Finish): string {
    return "";
  }

  /** Empty where the sender renders the error, because only it knows the request id. */
  protected fail(_failure: Failure): string {
    return "";
  }
}
