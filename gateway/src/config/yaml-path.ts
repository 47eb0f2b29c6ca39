import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Pair, visit } from "yaml";

/** Finds the node that a path of the plain data came from, through aliases and merge keys. */
export interface NodeFinder {
  /** The node at the path, or the nearest one around it. */
  nodeAt(path: readonly PropertyKey[]): unknown;
  /** The key called `name` of the map at the path, or that map. */
  keyAt(path: readonly PropertyKey[], name: string): unknown;
  /** Aliases whose anchor does not stand above them. */
  readonly lost: readonly Alias[];
}

export function createNodeFinder(document: Document): NodeFinder {
  const { targets, lost } = aliasTargets(document);
  const resolved = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node);

  const childOf = (parent: unknown, step: PropertyKey): unknown => {
    if (isSeq(parent)) return typeof step === "number" ? parent.items[step] : undefined;
    if (!isMap(parent)) return undefined;
    const pair = pairOf(parent.items, String(step));
    return pair?.value ?? pair?.key;
  };

  /** The pair with this key, also one that came in by a merge key (`<<`). */
  const pairOf = (pairs: readonly Pair[], name: string): Pair | undefined => {
    const own = pairs.find((pair) => isScalar(pair.key) && pair.key.value === name);
    if (own !== undefined) return own;
    for (const pair of pairs.filter(isMerge)) {
      const sources = isSeq(pair.value) ? pair.value.items : [pair.value];
      for (const source of sources) {
        const map = resolved(source);
        const found = isMap(map) ? pairOf(map.items, name) : undefined;
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };

  const nodeAt = (path: readonly PropertyKey[]): unknown => {
    let node: unknown = document.contents;
    for (const step of path) {
      const next = resolved(childOf(node, step));
      if (next === undefined || next === null) return node;
      node = next;
    }
    return node;
  };

  return {
    nodeAt,
    keyAt: (path, name) => {
      const map = nodeAt(path);
      return (isMap(map) ? pairOf(map.items, name)?.key : undefined) ?? map;
    },
    lost,
  };
}

function isMerge(pair: Pair): boolean {
  return isScalar(pair.key) && (pair.key.value === "<<" || typeof pair.key.value === "symbol");
}

/** One walk in the order of the text: an alias means the last anchor of its name above it. */
function aliasTargets(document: Document): { targets: ReadonlyMap<Alias, unknown>; lost: readonly Alias[] } {
  const anchors = new Map<string, unknown>();
  const targets = new Map<Alias, unknown>();
  const lost: Alias[] = [];
  visit(document, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined && node.anchor !== "") anchors.set(node.anchor, node);
        return;
      }
      const target = anchors.get(node.source);
      if (target === undefined) lost.push(node);
      else targets.set(node, target);
    },
  });
  return { targets, lost };
}
