import { VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { t } from "../language/areas/shell.ts";
import mark from "../mark.svg";
import { useSession } from "../session/session-context.tsx";

/** The product's mark, name and version: the way home. The build behind the version's `+` has no room here. */
export function Brand() {
  const { answer } = useSession();
  return (
    <Link to="/" className="brand">
      <img src={mark} alt="" width={26} height={26} />
      <span className="brand-name">{t("shell.brand")}</span>
      {answer.version !== null && (
        <>
          <VisuallyHidden>{t("shell.version")}</VisuallyHidden>
          <span className="brand-version" title={answer.version}>
            {answer.version.split("+")[0]}
          </span>
        </>
      )}
    </Link>
  );
}
