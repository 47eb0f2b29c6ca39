import { badRequests } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

badRequests(completionsEndpoint);
