import { credentials } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

credentials(moderationsEndpoint);
