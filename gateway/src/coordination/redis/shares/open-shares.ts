import type { Membership } from "../membership.ts";
import type { RedisCounterOptions } from "../options.ts";
import { openRecallInbox } from "./recall-inbox.ts";
import { ShareBook } from "./share-book.ts";

/** The shares of one process, over its part in the shared counter. */
export function openShares(membership: Membership, { clock, shares }: RedisCounterOptions): ShareBook {
  return new ShareBook(
    {
      clock,
      owner: membership.owner,
      epoch: () => membership.epoch,
      mayUse: (atMs) => membership.holdsLease(atMs),
      isUp: () => membership.isUp,
      mayTell: () => membership.mayTell,
      tell: (script, args) => membership.tell(script, args),
      openInbox: (onRecall) =>
        openRecallInbox({
          clock,
          key: membership.inboxKey,
          open: () => membership.openLink(() => undefined),
          onRecall,
        }),
    },
    shares === false ? {} : (shares ?? {}),
  );
}
