import { type LinkProps, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * Query parameters of the URL as plain texts, so that URLs can be read, shared and typed. `workspace` is kept from page to page; the
 * others belong to one page.
 */
export interface Search {
  readonly workspace?: string;
  readonly [name: string]: string | undefined;
}

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function writeSearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

export function checkSearch(search: Record<string, unknown>): Search {
  return Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** A link to a path of the console, with its parameters. */
export function linkOf(path: string): LinkProps {
  const [to = "/", search = ""] = path.split("?");
  return { to, search: parseSearch(search) } as LinkProps;
}

/** One URL parameter and its setter. An empty text removes it. */
export function useUrlText(name: string, fallback = ""): readonly [string, (value: string) => void] {
  const value = useSearch({ strict: false, select: (search: Search) => search[name] || fallback });
  const change = useUrlChange();
  const set = useCallback(
    (text: string) => change({ [name]: text === fallback ? "" : text }),
    [change, name, fallback],
  );
  return [value, set];
}

/** All URL parameters. */
export function useUrlSearch(): Search {
  return useSearch({ strict: false });
}

/** Changes several URL parameters at once. An empty text removes one. Replaces the history entry of the page. */
export function useUrlChange(): (changes: Readonly<Record<string, string>>) => void {
  const navigate = useNavigate();
  return useCallback(
    (changes) => {
      void navigate({
        to: ".",
        search: (before: Search) => ({ ...before, ...changes }),
        replace: true,
        resetScroll: false,
      });
    },
    [navigate],
  );
}

/** The order of a list that the gateway sorts, for `DataTable`. It is kept in the URL as `order`. */
export function useOrder<Sort extends string>(sorts: readonly Sort[], usual: NoInfer<Sort>) {
  const [text, setText] = useUrlText("order", usual);
  return { by: sorts.find((each) => each === text) ?? usual, onChange: setText };
}

const hourMs = 3_600_000;

/** The time that many days ago, to the hour, so that a query keeps its key. null: not a number of days. */
export function sinceDays(days: string | undefined, now = Date.now()): number | null {
  if (days === undefined || !/^\d{1,4}$/.test(days)) return null;
  return Math.floor(now / hourMs) * hourMs - Number(days) * 24 * hourMs;
}
