import { doBodyJob, type WorkOrder, type WorkReply } from "#bodies/index.ts";
import { createIds, serveOrders, systemClock } from "#system/index.ts";

/** The entry point of a thread that works on bodies. Importing it has an effect only in a thread. */
const ids = createIds(systemClock);
serveOrders({
  work: (order: WorkOrder) => doBodyJob(order, { newId: (prefix) => ids.next(prefix) }),
  moved: buffersOf,
});

/** The new bytes may be a view of the given ones. */
function buffersOf({ body, made }: WorkReply): ArrayBuffer[] {
  const buffers = [body, made].flatMap((bytes) => (bytes?.buffer instanceof ArrayBuffer ? [bytes.buffer] : []));
  return [...new Set(buffers)].filter(({ byteLength }) => byteLength > sharedBytesMax);
}

/** The runtime cuts small buffers out of shared ones of this size, which stay here. */
const sharedBytesMax = 8 * 1024;
