import { Link } from "@tanstack/react-router";
import { t } from "../language/areas/shell.ts";
import { useSession } from "../session/session-context.tsx";
import { useWorkspace } from "../session/workspace.ts";
import { visibleGroups } from "./page-list.ts";

/** The list of pages, in the sidebar and in the drawer of narrow screens. */
export function Navigation({ onGo }: { readonly onGo?: () => void }) {
  const { answer } = useSession();
  const { may } = useWorkspace();
  return (
    <nav aria-label={t("shell.groups.pages")} className="navigation">
      {visibleGroups(may, answer.media).map((group) => (
        <div key={group.pages[0]?.to} className="navigation-group">
          {group.label !== null && <div className="navigation-label">{group.label}</div>}
          <ul>
            {group.pages.map(({ to, label, icon: Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  activeOptions={{ exact: to === "/", includeSearch: false }}
                  className="navigation-link"
                  onClick={onGo}
                >
                  <Icon size={17} stroke={1.6} aria-hidden />
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
