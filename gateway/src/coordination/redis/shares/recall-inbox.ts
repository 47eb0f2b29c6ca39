import { bounds, Sleeper } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { RedisLink } from "../redis-link.ts";

/** Seconds that one question for recalls waits. */
const shareInboxS = 30;

export interface RecallInbox {
  close(): void;
}

export interface InboxParts {
  readonly clock: Clock;
  /** The list that recalls are put into. */
  readonly key: string;
  /** A connection of its own, since waiting blocks it. */
  open(): Promise<RedisLink>;
  onRecall(name: string): void;
}

/**
 * Waits for recalls on a list of this process's own: a blocking read, which needs no right but that to its keys, and which a cluster and
 * sentinels know. What is missed here is seen in the next answer to a message.
 */
export function openRecallInbox({ clock, key, open, onRecall }: InboxParts): RecallInbox {
  let link: RedisLink | null = null;
  let isClosed = false;
  const sleeper = new Sleeper(clock);
  const listen = async (): Promise<void> => {
    while (!isClosed) {
      try {
        link ??= await open();
        if (isClosed) break;
        const answer = await link.send(key, ["BLPOP", key, String(shareInboxS)]);
        if (Array.isArray(answer)) onRecall(String(answer[1]));
      } catch {
        // Another one is made with the certificates of then.
        link?.close();
        link = null;
        await sleeper.sleep(bounds.redisRetryMs);
      }
    }
    link?.close();
  };
  void listen();
  return {
    close() {
      isClosed = true;
      sleeper.end();
      link?.close();
    },
  };
}
