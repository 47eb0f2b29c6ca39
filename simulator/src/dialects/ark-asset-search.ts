import { bounds } from "../bounds.ts";
import { Refusal } from "../dialect.ts";
import { countOf, type JsonObject, objectOf, stringOf } from "../json-body.ts";

/** The fields that a list can be filtered by. */
export interface AssetFacts<T> {
  readonly item: T;
  readonly name: string;
  readonly group: string;
  readonly groupType: string;
  readonly status: string;
}

interface Dated {
  readonly id: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The items that match the request's Filter, in the requested order. */
export function searched<T extends Dated>(
  items: readonly T[],
  body: JsonObject,
  factsOf: (item: T) => AssetFacts<T>,
): readonly T[] {
  const filter = objectOf(body["Filter"]);
  const name = stringOf(filter["Name"]);
  const type = stringOf(filter["GroupType"]);
  const groups = textsIn(filter["GroupIds"]);
  const statuses = textsIn(filter["Statuses"]);
  const matching = items.map(factsOf).filter((facts) => {
    const inGroup = groups.length === 0 || groups.includes(facts.group);
    const inState = statuses.length === 0 || statuses.includes(facts.status);
    return facts.name.includes(name) && facts.groupType === type && inGroup && inState;
  });
  const order = stringOf(body["SortOrder"]) === "Asc" ? 1 : -1;
  const by = stringOf(body["SortBy"]);
  return matching.toSorted((a, b) => order * compare(a, b, by)).map(({ item }) => item);
}

/** One page of the items, in the vendor's format. */
export function pageOf<T>(body: JsonObject, items: readonly T[], shown: (item: T) => JsonObject): JsonObject {
  const number = countOf(body["PageNumber"]) ?? 1;
  const size = countOf(body["PageSize"]) ?? 10;
  if (number < 1 || size < 1 || size > bounds.assetsPageMax) {
    throw new Refusal(400, `PageNumber starts at 1, PageSize ends at ${bounds.assetsPageMax}.`, {
      code: "InvalidParameter",
    });
  }
  const Items = items.slice((number - 1) * size, number * size).map(shown);
  return { Items, TotalCount: items.length, PageNumber: number, PageSize: size };
}

function compare<T extends Dated>(a: AssetFacts<T>, b: AssetFacts<T>, by: string): number {
  if (by === "GroupId") return a.group < b.group ? -1 : 1;
  return by === "UpdateTime" ? a.item.updatedAt - b.item.updatedAt : a.item.createdAt - b.item.createdAt;
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(stringOf) : [];
}
