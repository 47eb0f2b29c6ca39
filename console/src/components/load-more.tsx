import { Button } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { useEffect } from "react";
import type { Rows } from "../api/use-pages.ts";
import { t } from "../language/areas/components.ts";

const bySelfMax = 500;

/** Loads the next page when its place becomes visible; after many pages with a button, so that the page footer can be reached. */
export function LoadMore<Row>({ rows, byHand = false }: { readonly rows: Rows<Row>; readonly byHand?: boolean }) {
  const { ref, entry } = useIntersection({ rootMargin: "300px" });
  const { more, loadingMore, problem } = rows;
  const bySelf = !byHand && (rows.rows?.length ?? 0) < bySelfMax && problem === null;
  const near = entry?.isIntersecting === true;
  useEffect(() => {
    if (near && bySelf && more !== null && !loadingMore) more();
  }, [near, bySelf, more, loadingMore]);
  if (more === null) return null;
  return (
    <div ref={ref} className="table-more">
      <Button variant="default" onClick={more} loading={loadingMore}>
        {t("components.actions.loadMore")}
      </Button>
    </div>
  );
}
