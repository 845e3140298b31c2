/** Times as Java prints them: ISO 8601, with as many digits as are needed in groups of three. */

const DAY_SECONDS = 86_400;
/** Days from 1 March of the year 0 to 1 January 1970, and in 400 years. */
const EPOCH_FROM_MARCH_0 = 719_468;
const DAYS_OF_400_YEARS = 146_097;

/** A date by its parts. */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The date so many days after 1 January 1970 in the proleptic Gregorian calendar. */
export function dateOfEpochDay(epochDay: number): CivilDate {
  const days = epochDay + EPOCH_FROM_MARCH_0;
  const era = Math.floor(days / DAYS_OF_400_YEARS);
  const dayOfEra = days - era * DAYS_OF_400_YEARS;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  };
}

/** The day number of a date: the other way round than {@link dateOfEpochDay}. */
export function epochDayOf({ year, month, day }: CivilDate): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_OF_400_YEARS + dayOfEra - EPOCH_FROM_MARCH_0;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `LocalDate.toString`. */
export function dateText({ year, month, day }: CivilDate): string {
  const digits = String(Math.abs(year)).padStart(4, '0');
  const sign = year < 0 ? '-' : year > 9999 ? '+' : '';
  return `${sign}${digits}-${two(month)}-${two(day)}`;
}

function fractionText(nanos: number): string {
  if (nanos === 0) return '';
  const digits = String(nanos).padStart(9, '0');
  if (nanos % 1_000_000 === 0) return `.${digits.slice(0, 3)}`;
  return nanos % 1000 === 0 ? `.${digits.slice(0, 6)}` : `.${digits}`;
}

/** `LocalTime.toString`: seconds only if there are any. */
export function timeText(hour: number, minute: number, second: number, nanos: number): string {
  const seconds = second === 0 && nanos === 0 ? '' : `:${two(second)}${fractionText(nanos)}`;
  return `${two(hour)}:${two(minute)}${seconds}`;
}

/** `LocalTime.toString` by the second of the day. */
export function timeOfDayText(secondOfDay: number, nanos: number): string {
  return timeText(Math.floor(secondOfDay / 3600), Math.floor(secondOfDay / 60) % 60, secondOfDay % 60, nanos);
}

/** `LocalDateTime.toString` of so many seconds and nanoseconds after the epoch. */
export function dateTimeText(epochSecond: number, nanos: number): string {
  const day = Math.floor(epochSecond / DAY_SECONDS);
  return `${dateText(dateOfEpochDay(day))}T${timeOfDayText(epochSecond - day * DAY_SECONDS, nanos)}`;
}

/** `Instant.toString`: as {@link dateTimeText}, always with seconds, in UTC. */
export function instantText(epochSecond: number, nanos: number): string {
  const day = Math.floor(epochSecond / DAY_SECONDS);
  const second = epochSecond - day * DAY_SECONDS;
  const time = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
  return `${dateText(dateOfEpochDay(day))}T${time}${fractionText(nanos)}Z`;
}

/** {@link instantText} of seconds that may be no exact number. */
export function farInstantText(seconds: bigint, nanos: number): string {
  const second = Number(((seconds % 86_400n) + 86_400n) % 86_400n);
  const day = Number((seconds - BigInt(second)) / 86_400n);
  // The time of any day looks alike.
  return `${dateText(dateOfEpochDay(day))}${instantText(second, nanos).slice('1970-01-01'.length)}`;
}

const DATE = /^([+-]?\d{4,10})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/;
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Parses what {@link dateText} prints; undefined if it is no date. */
export function parseDate(text: string): CivilDate | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const date = { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) };
  if (date.day < 1 || date.day > (MONTH_DAYS[date.month - 1] ?? 0)) return undefined;
  const back = dateOfEpochDay(epochDayOf(date));
  return back.day === date.day ? date : undefined;
}

/** A time of day by its parts. */
export interface CivilTime {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanos: number;
}

/** Parses what {@link timeText} prints; undefined if it is no time. */
export function parseTime(text: string): CivilTime | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, hour = '', minute = '', second = '0', fraction = ''] = match;
  const time = {
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    nanos: Number(fraction.padEnd(9, '0')),
  };
  return time.hour < 24 && time.minute < 60 && time.second < 60 ? time : undefined;
}

/** Seconds and nanoseconds after the epoch of `date`T`time`; undefined if it is none. */
export function parseDateTime(text: string): { readonly seconds: bigint; readonly nanos: number } | undefined {
  const [dayText, clockText, ...rest] = text.split('T');
  if (dayText === undefined || clockText === undefined || rest.length > 0) return undefined;
  const date = parseDate(dayText);
  const time = parseTime(clockText);
  if (date === undefined || time === undefined) return undefined;
  const secondOfDay = time.hour * 3600 + time.minute * 60 + time.second;
  return { seconds: BigInt(epochDayOf(date)) * BigInt(DAY_SECONDS) + BigInt(secondOfDay), nanos: time.nanos };
}
