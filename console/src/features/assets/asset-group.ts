import type { AnswerOf } from "@sluice/contract";

export type AssetGroup = AnswerOf<"assetGroups.list">["data"][number];
