import { t } from "../../../language/areas/workspaces.ts";
import { type Mark, markWords } from "../../access/marks.ts";

export function AccessLegend() {
  return (
    <ul className="plain-list access-legend" aria-label={t("workspaces.access.legend")}>
      {(Object.keys(markWords) as Mark[]).map((mark) => (
        <li key={mark}>
          <span className="access-mark" data-mark={mark} />
          {markWords[mark]}
        </li>
      ))}
    </ul>
  );
}
