import { formatShare } from "../../client/format.ts";
import { Nothing } from "../../components/figures.tsx";
import { t } from "../../language/areas/overview.ts";

export function Rate({ rate }: { readonly rate: number | null }) {
  return rate === null ? <Nothing /> : formatShare(rate);
}

export function Share({ of, whole }: { readonly of: number; readonly whole: number }) {
  if (whole === 0) return <Nothing word={t("overview.lines.noSpend")} />;
  const share = Math.min(1, of / whole);
  return (
    <span className="share">
      <span className="share-track" aria-hidden="true">
        <span className="share-bar" style={{ width: `${share * 100}%` }} />
      </span>
      <span className="share-figure">{formatShare(share)}</span>
    </span>
  );
}
