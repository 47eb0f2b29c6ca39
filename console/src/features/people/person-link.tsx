import type { Person } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { personText } from "../../components/person-text.ts";
import { useSession } from "../../session/session-context.tsx";

interface PersonLinkProps {
  readonly person: Person;
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  /** Default: name and address. */
  readonly text?: string;
}

/** A person's name, which leads to their page if the viewer may see it. */
export function PersonLink({ person, workspace, text = personText(person) }: PersonLinkProps) {
  const { user, may } = useSession();
  if (person.id !== user.id && !may("admin", workspace)) return text;
  return (
    <Link to="/people/$person" params={{ person: person.id }} search={{ workspace }} className="text-link">
      {text}
    </Link>
  );
}
