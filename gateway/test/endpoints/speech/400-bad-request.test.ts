import { badRequests } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

badRequests(speechEndpoint);
