import { credentials } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

credentials(translationsEndpoint);
