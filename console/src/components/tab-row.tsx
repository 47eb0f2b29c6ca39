import { Tabs } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";

interface TabRowProps {
  /** The selected tab. */
  readonly value: string | null;
  readonly children: ReactNode;
}

/** The tabs of a page. On a narrow screen the row scrolls sideways, so the selected tab is scrolled into view. */
export function TabRow({ value, children }: TabRowProps) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const list = row.current;
    const tab = value === null ? null : list?.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]');
    if (list == null || tab == null) return;
    // Only the row moves: `scrollIntoView` would move the page as well.
    const [seen, wanted] = [list.getBoundingClientRect(), tab.getBoundingClientRect()];
    if (wanted.left < seen.left) list.scrollLeft -= seen.left - wanted.left;
    else if (wanted.right > seen.right) list.scrollLeft += wanted.right - seen.right;
  }, [value]);
  return (
    <Tabs.List ref={row} mb="lg">
      {children}
    </Tabs.List>
  );
}
