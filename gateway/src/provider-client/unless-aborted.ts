import { type CallSignal, Failure } from "#core/index.ts";

/** `pending`, or client_closed as soon as the caller goes away. What is waited for goes on for others. */
export function unlessAborted<T>(pending: Promise<T>, signal: CallSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const gone = (): void => reject(new Failure("client_closed", "The caller went away."));
  if (signal.aborted) gone();
  else signal.addEventListener("abort", gone, { once: true });
  const heard = (): void => signal.removeEventListener("abort", gone);
  pending.then(resolve, reject).finally(heard);
  return promise;
}
