/** The second entry point of relay: which deployments can serve a call, for the thread of `rehearsal`, which loads little. */

export { canServeOf, serves } from "./attempt/lane-match.ts";
