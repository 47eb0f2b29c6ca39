import { credentials } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

credentials(completionsEndpoint);
