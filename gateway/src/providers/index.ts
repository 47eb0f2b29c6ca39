/**
 * providers: what each provider type (kind) needs, as data and pure functions. Nothing here sends anything.
 *
 * kind  the base URL, the authorization, and the meaning of bad answers. One file in kinds/ lists what differs;
 * `…-shaped.ts` files have what several share.
 * lane  one path of a kind, with its endpoint and dialect.
 *
 * A vendor's video API is one file in video/, its asset library one file in assets/.
 */
export type { AssetLibrary, AssetTexts, LibraryAsset } from "./assets/volcengine-library.ts";
export type { BatchAccount, BatchAdapter, BatchFrame, BatchLine, ListedBatch } from "./batch-adapter.ts";
export { callerHeaders, isBlockedHeader, sendsOwnTrace } from "./caller-headers.ts";
export { withQuery } from "./caller-query.ts";
export { type FileApi, fileApiOf } from "./file-apis.ts";
export type { FileRequest } from "./file-request.ts";
export { governingFor } from "./governed-members.ts";
export type {
  AuthorizeOptions,
  BadAnswer,
  Lane,
  OutboundDraft,
  ProviderKind,
} from "./kind.ts";
export { kindForm, settingsProblem, wrongSettings } from "./kind-form.ts";
export { keepsThreads, priceTermsOf, providerKind, providerKinds } from "./kinds.ts";
export { batchesOf, batchWebhookKey, defaultBaseUrl, lanesOf, laneTraits, laneUrl, rootOf } from "./lanes.ts";
export { certificateEnds, mayReachPrivate, networkOf } from "./network-settings.ts";
export { containerMemories, type ObjectPrices, objectPricesOf } from "./object-prices.ts";
export { outboundDraft } from "./outbound-draft.ts";
export { deniedPaths } from "./pass-through/denied-paths.ts";
export { passThroughOf } from "./pass-through/pass-through-setting.ts";
export { type PassThroughTarget, passThroughTarget } from "./pass-through/pass-through-target.ts";
export {
  lastPriceListDate,
  type PriceListInUse,
  priceListData,
  priceListDate,
  withContextWindows,
} from "./price-list/bundled-price-list.ts";
export { type PriceChange, type PriceSource, priceChanges, priceSource } from "./price-list/price-changes.ts";
export { priceListProviders } from "./price-list/price-list.ts";
export { readPriceList } from "./price-list/read-price-list.ts";
export { retirementOf } from "./price-list/retirements.ts";
export { type Advice, adviceFor, noListAdvice } from "./probe-advice.ts";
export { listQuestion, smallQuestion, taskQuestion, testLane } from "./probe-question.ts";
export { type ReadSecret, referencesOf, withSecrets } from "./secret-references.ts";
export { accountRedactor, secretsOf, settingIsShown, shownSettings } from "./setting-secrets.ts";
export { allowsObject, mayFetch, passesMember } from "./settings.ts";
export { readModelsPage, suggestedModel, typesOf, type UpstreamModelListed } from "./upstream-models.ts";
export { accountObjectsIn } from "./video/account-objects.ts";
export { paidMembersIn } from "./video/paid-members.ts";
export type { CreateInput, GoodAnswer, VideoAdapter, VideoState, VideoStill } from "./video-adapter.ts";
